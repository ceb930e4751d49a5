"""``python -m fuzzymil``: the command line."""

from fuzzymil.cli import main

if __name__ == "__main__":
    main()
