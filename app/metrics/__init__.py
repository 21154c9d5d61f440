"""What the answers cost and gained: counted from engine events, recomputable from their own steps."""
