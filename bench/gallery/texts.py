"""Invented texts of tasks."""

from __future__ import annotations

NEWS = (
    "On 3 May 1887 the steamer Aurora, under Captain Elias Brandt, left the harbour of Port Selwyn for Madeira.",
    "Mrs Harriet Colby of Lower Marsh opened the new reading room in Ashford on Saturday, 12 October 1901.",
    "The violinist Teresa Moreno will play in the town hall of Granby on 9 March. Mr Jonas Field conducts.",
    "A fire destroyed two barns near Holm Bridge in the night of 2 August 1899. Nobody was hurt.",
    "Professor Ada Lindqvist spoke in Norrby on 17 January about the comet that Mr Paul Renner had seen.",
    "The railway from Ashford to Port Selwyn was opened on 1 June 1876 by Sir Walter Finch.",
    "Lost on the road to Granby, on 5 November: a silver watch. Please return it to Miss Edith Crane.",
    "Captain Brandt reports ice off Cape Norr since the end of February 1888.",
    "The school in Lower Marsh has a new teacher, Mr Samuel Oakes, since 4 September 1893.",
    "Madame Lucie Perrin shows her photographs of Lisbon in the hotel at Holm Bridge until 30 April.",
    "On 21 July 1905 Otto Hansen crossed the lake at Norrby in his flying machine.",
    "The clock of Ashford, built by Peter Moll in 1743, stopped on Christmas Day 1890.",
)
CITIZENS = (
    "The lime trees in the park were pruned so carefully this spring. Thank you, they look wonderful!",
    "For the third week in a row nobody has collected the bins in our street. This is unbearable.",
    "Could the traffic light at the school stay green a little longer? The children have to run.",
)
SPOKEN = (
    ("Good morning.", "My name is Anna, and I was born by the sea."),
    ("We walked to school every day.", "In winter it was still dark."),
    ("My grandmother kept bees.", "She sold the honey at the market."),
)
SURVEY = ("How do people get into town, and what should become better? Up to six questions, two minutes, no names.",)
