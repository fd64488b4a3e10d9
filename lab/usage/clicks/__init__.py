"""From clicks to judgements: what was shown and clicked, models of who looks where, grades."""
