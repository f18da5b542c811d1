"""Voice clients to try simrt on, written as their users would write them."""
