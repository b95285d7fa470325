"""What owners and reviewers see of trust: the review queue, volunteers, calibration, replays with other settings."""
