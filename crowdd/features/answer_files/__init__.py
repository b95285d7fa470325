"""Files of answers: what volunteers send, how much of it, who sees it, and when it goes."""
