"""The answers of a project: compared again when settings change, shown to whom, and enough of them."""
