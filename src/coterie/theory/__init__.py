"""What the papers prove, as functions of numbers: constants and bounds to hold measurements against."""
