"""The commands of crowdctl, one file per group."""
