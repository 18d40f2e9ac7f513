import Kone from 'kone'
import { jsonp, router as Router } from 'kone/middleware'

const app = new Kone()
const router = new Router()
router.get('/page/:name', ctx => { ctx.body = `Good day ${ctx.params.name}` })
app.use(jsonp()).use(router.routes())

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
