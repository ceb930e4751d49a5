"""The paper's six layers, with norms, aggregation over instances and the segments they work on."""
