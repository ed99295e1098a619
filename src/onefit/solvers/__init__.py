"""Named algorithms that take a Gram matrix, targets and splits to solutions and their derivatives."""
