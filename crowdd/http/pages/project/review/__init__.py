"""Pages of the review: the queue, a task with its answers, reviewers, and adaptive redundancy."""
