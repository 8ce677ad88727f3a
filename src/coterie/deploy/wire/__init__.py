"""Words between members: sealed, signed, in lanes; sent once, heard once, whatever the network does."""
