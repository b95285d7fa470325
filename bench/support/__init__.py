"""What the measurements share: servers, clients, volunteers, figures."""
