"""The answers of a project: compared anew when settings change, shown to whom, and enough of them."""
