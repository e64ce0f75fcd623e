"""ProcessId a kernel belongs to: layer, direction, operator, category.

`labels.py` holds the form of the answer and what is known of the model; `paths.py` reads name scopes;
`categories.py` sorts operators; one file per engine applies them to a trace.
"""
