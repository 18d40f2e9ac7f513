import './setup.ts'
import { createApp } from './app.ts'

const app = createApp()
const port = Number(process.env.PORT) || 3000
const server = app.listen(port, () => console.log(`http://localhost:${port}`))

server.on('error', err => {
  console.error(err.message)
  if (!server.listening) process.exit(1) // a connection to a database would keep the process
})

// No request is lost: those in flight get their response, then the process ends. Docker kills it after 10 s.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => app.close({ timeout: 8000 }).finally(() => process.exit()))
}
