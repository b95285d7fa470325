"""What adaptive redundancy saves: made-up crowds, whose truth is known, answer through a real server."""
