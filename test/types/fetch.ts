// app.fetch: what Bun and Deno take, and what tests call.
import Kone from 'kone'

declare function is<T> (value: T): void

const app = new Kone()

is<Promise<Response>>(app.fetch(new Request('http://localhost/')))
is<Promise<Response>>(app.fetch(new Request('http://localhost/'), { ip: '127.0.0.1' }))
app.fetch(new Request('http://localhost/'), { remoteAddr: { transport: 'tcp', hostname: '::1', port: 1 } })
// @ts-expect-error: a Request, not its URL
app.fetch('http://localhost/')

// a method of a subclass
class Own extends Kone {
  override async fetch (request: Request) { return new Response(request.url) }
}
is<Kone>(new Own())

const { fetch } = app
is<{ fetch (request: Request): Promise<Response> }>({ fetch })

app.inject(new Request('http://localhost/')).then(res => is<number>(res.status))
