# An example takes 256 requests with one transaction id, and a trace that shows how requests end.
