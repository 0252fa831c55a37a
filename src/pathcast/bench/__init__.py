"""Our figures: each benchmark is a list of lines with a target, measured as ratios in one run."""
