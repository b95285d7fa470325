"""How users prove who they are: passwords, passkeys, second factors, sessions."""
