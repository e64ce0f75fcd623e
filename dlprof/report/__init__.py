"""Reports: what the analyses found, for people and for machines."""
