"""Learning: losses, where rules start, gradient steps, the training loop and its checkpoints."""
