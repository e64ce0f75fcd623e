# -*- coding: latin-1 -*-
print(ascii("ä"))
raise ValueError("ä")
