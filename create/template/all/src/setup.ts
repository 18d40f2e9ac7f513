import fs from 'node:fs'
import module from 'node:module'

// server.ts imports this first: the modules after it read the environment.
if (fs.existsSync('.env')) process.loadEnvFile()

// Node 22.1 and later keep the compiled code for the next start.
Reflect.get(module, 'enableCompileCache')?.('node_modules/.cache/compile')
