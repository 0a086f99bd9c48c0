"""Stories with real operators. Each is built from its public Go module and runs as pods."""
