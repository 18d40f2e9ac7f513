// Made by `make index` from the folders beside it.

import bodyParser = require('./bodyParser')
import compress = require('./compress')
import conditionalGet = require('./conditionalGet')
import cors = require('./cors')
import csrf = require('./csrf')
import etag = require('./etag')
import favicon = require('./favicon')
import health = require('./health')
import helmet = require('./helmet')
import i18n = require('./i18n')
import isolate = require('./isolate')
import jsonp = require('./jsonp')
import logger = require('./logger')
import metrics = require('./metrics')
import openapi = require('./openapi')
import overload = require('./overload')
import rateLimit = require('./rateLimit')
import requestId = require('./requestId')
import router = require('./router')
import rpc = require('./rpc')
import session = require('./session')
import sse = require('./sse')
import serve = require('./static')
import template = require('./template')
import timeout = require('./timeout')
import upload = require('./upload')
import validate = require('./validate')
import views = require('./views')
import websocket = require('./websocket')

export {
  bodyParser,
  compress,
  conditionalGet,
  cors,
  csrf,
  etag,
  favicon,
  health,
  helmet,
  i18n,
  isolate,
  jsonp,
  logger,
  metrics,
  openapi,
  overload,
  rateLimit,
  requestId,
  router,
  rpc,
  session,
  sse,
  serve as static,
  template,
  timeout,
  upload,
  validate,
  views,
  websocket
}
