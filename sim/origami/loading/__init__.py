"""What a fold is asked to do: phases of creases driven, moved supports and loads."""
