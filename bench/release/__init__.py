"""What goes into a release: pins, the bill of materials, the wheel."""
