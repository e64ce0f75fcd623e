print("after a mark of byte order", __name__)
raise ValueError("ä")
