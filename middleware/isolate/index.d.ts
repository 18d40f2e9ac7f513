import type { Middleware } from '../../lib/index'

declare function isolate (): Middleware

export = isolate
