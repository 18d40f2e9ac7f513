/* global Bun */

/*
 * Hello world under Bun: the server that the argument names.
 */

const servers = {
  serve: listen => Bun.serve({ ...listen, fetch: () => new Response('Hello World') }),

  async elysia ({ hostname, port }) {
    const { Elysia } = await import('elysia')
    const app = new Elysia()
    for (let i = 0; i < 5; i++) app.onBeforeHandle(async () => {})
    app.get('/', async () => 'Hello World').listen({ hostname, port })
  }
}

await servers[process.argv[2]]({ hostname: process.env.HOST, port: Number(process.env.PORT) })
