"""The zoo: voice clients with bugs that people have reported in public, each beside its mended twin.

`python -m tests.zoo` searches all of them and prints what found which bug. Each exhibit (`exhibit.Exhibit`) stands
beside its client, in the modules called clients_*; `exhibits.EXHIBITS` is all of them.
"""
