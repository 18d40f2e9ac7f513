{ "Hello %s": "Hello %s" }
