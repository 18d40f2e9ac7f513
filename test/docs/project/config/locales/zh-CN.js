{ "Hello %s": "你好，%s" }
