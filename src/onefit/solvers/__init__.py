"""Named algorithms that take a Gram matrix, targets and folds to held-out values, and their derivatives."""
