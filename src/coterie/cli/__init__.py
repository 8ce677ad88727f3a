"""The command `coterie`: thin wrappers around the packages below, with progress, tables and one-line errors."""
