import type { AddressInfo } from 'node:net'
import { createApp } from './app.js'

const app = createApp()
const server = app.listen(Number(process.env.PORT) || 3000, () => {
  console.log(`http://localhost:${(server.address() as AddressInfo).port}`)
})

server.on('error', err => {
  console.error(err.message)
  process.exitCode = 1
})

// no request is lost: what is in flight is answered, then the process ends by itself
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())
