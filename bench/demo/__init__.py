"""A site with finished projects and simulated people, for screenshots, talks and load tests."""
