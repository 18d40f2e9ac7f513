// The form of CommonJS: `export =` seen without interop, and the paths beside the class.
import Kone = require('kone')
import compose = require('kone/compose')
import Bluebird = require('kone/bluebird')
import Application = require('kone/lib/application')
import context = require('kone/lib/context')
import request = require('kone/lib/request')
import response = require('kone/lib/response.js')

class Sub extends Application<Kone.DefaultState, Kone.DefaultContext> {
  override createContext<StateT = Kone.DefaultState> (
    ...args: Parameters<Kone['createContext']>
  ): Kone.ParameterizedContext<StateT> {
    return super.createContext(...args)
  }
}

const app: Kone = new Sub()
const blue: Kone = new Bluebird()
const first: Kone.Middleware = (ctx, next) => next()
const all: compose.ComposedMiddleware<Kone.Context> = compose([first, first, first, first, first])
const some: Kone.BaseContext = context
const asked: Kone.BaseRequest = request
const told: Kone.BaseResponse = response

app.use(compose([first, first]))
app.use(all)
// @ts-expect-error: not a list
compose(first)

export = { blue, some, asked, told }
