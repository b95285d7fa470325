"""What volunteers keep: favourites, collections and participation."""
