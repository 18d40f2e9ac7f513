'use strict'

// Schemas that are declared once: requests are validated, responses serialized, and /openapi.json describes both. The
// page at /docs shows that with Swagger UI or Scalar, whichever is installed.
//
//    curl localhost:3000/items -H 'Content-Type: application/json' -d '{"name":"Tea","price":4}'
const Kone = require('kone')
const bodyParser = require('kone/middleware/bodyParser')
const helmet = require('kone/middleware/helmet')
const openapi = require('kone/middleware/openapi')
const Router = require('kone/middleware/router')
const validate = require('kone/middleware/validate')
const { z } = require('zod')

const Draft = z.object({ name: z.string(), price: z.number().min(1) })
const Item = Draft.extend({ id: z.number() }).meta({ id: 'Item' })
const items = []

const router = new Router({ prefix: '/items' })

router.get('/', { summary: 'All items' }, validate({ response: z.array(Item), serialize: true }), ctx => {
  ctx.body = items
})

router.post('/', { summary: 'Add an item' }, validate({ body: Draft, response: { 201: Item } }), ctx => {
  const item = { id: items.length + 1, ...ctx.valid.body }
  items.push(item)
  ctx.status = 201
  ctx.body = item
})

const notFound = { summary: 'One item', responses: { 404: 'No such item' } }
router.get('/:id', notFound, validate({ params: z.object({ id: z.coerce.number() }), response: Item }), ctx => {
  const item = items[ctx.valid.params.id - 1]
  ctx.assert(item, 404, 'no such item')
  ctx.body = item
})

const app = new Kone()
app.use(helmet())
app.use(bodyParser())
app.use(router.routes())
app.use(openapi(app, { info: { title: 'Shop', version: '1.0.0' }, page: '/docs' }))

const port = process.env.PORT || 3000
app.listen(port, () => console.log(`http://localhost:${port}`))
