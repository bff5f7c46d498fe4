"""The command line, as `python -m trec`."""

import sys

from trec.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
