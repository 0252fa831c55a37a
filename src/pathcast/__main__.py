"""Entry point of `python -m pathcast`: the same as the command `pathcast`."""

from pathcast.cli import main

if __name__ == "__main__":
    main()
