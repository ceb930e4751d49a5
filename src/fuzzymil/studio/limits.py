"""What the studio accepts at most, so that one message cannot take the machine."""

__all__ = ["LIMITS"]

LIMITS = {
    "message": 48_000_000,  # bytes of one message: a file of 32 MB as base64
    "file": 32_000_000,  # bytes
    "text": 500_000,  # characters
    "rules": 500,
    "variables": 2_000,
    "terms": 10_000,
    "instances": 1_000_000,
    "windows": 16,
    "epochs": 10_000,
    "training_seconds": 3_600,
}
"""The limits by name, which the page shows."""
