"""What every feature builds on: the base of the rules, records, texts, mail, requests to other servers, secrets."""
