"""What volunteers get back: what they gave and what came of it, certificates, and leaderboards that can be left"""
