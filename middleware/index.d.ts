import router = require('./router')
import bodyParser = require('./bodyParser')
import session = require('./session')
import template = require('./template')
import views = require('./views')
import logger = require('./logger')
import serve = require('./static')
import cors = require('./cors')
import csrf = require('./csrf')
import helmet = require('./helmet')
import i18n = require('./i18n')
import jsonp = require('./jsonp')
import favicon = require('./favicon')
import compress = require('./compress')
import etag = require('./etag')
import conditionalGet = require('./conditionalGet')
import requestId = require('./requestId')
import rateLimit = require('./rateLimit')
import timeout = require('./timeout')
import sse = require('./sse')
import upload = require('./upload')
import rpc = require('./rpc')
import isolate = require('./isolate')

export {
  router, bodyParser, session, template, views, logger, serve as static, cors, csrf, helmet, i18n,
  jsonp, favicon, compress, etag, conditionalGet, requestId, rateLimit, timeout, sse, upload, rpc,
  isolate
}
