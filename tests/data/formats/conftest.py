"""What made these files needs programs that the tests do not."""

collect_ignore = ["make.py"]
