// What lib and the set rely on without a declaration of its own: the members of node's objects that node does not
// document, and those that an engine adds to the classes of lib/engines/contract.js. `make lint` checks with it.
import * as nodeHttp from 'http'
import * as nodeHttps from 'https'
import * as nodeHttp2 from 'http2'
import * as nodeNet from 'net'
import * as nodeStream from 'stream'

declare module 'http' {
  interface Server {
    insecureHTTPParser?: boolean
    httpValidation?: string
  }

  interface IncomingMessage {
    upgrade: boolean
    joinDuplicateHeaders: boolean | null
    _readableState: any
    _consuming: boolean
    _dumped: boolean
    _addHeaderLines (lines: string[], length: number): void
    _addHeaderLine: Function
    _addHeaderLineDistinct: Function
    _dump (): void
    _dumpAndCloseReadable: Function
  }

  interface OutgoingMessage {
    getRawHeaderNames (): string[]
    _send: Function
    _writeRaw: Function
    _flush: Function
    _flushOutput: Function
    _finish: Function
    _implicitHeader (): void
    _storeHeader: Function
    _renderHeaders: Function
    _isLenientHeaderValidation: Function
  }

  interface ServerResponse {
    assignSocket (socket: object): void
    detachSocket (socket: object): void
    writeHeader: Function
    writeInformation: Function
  }
}

declare module 'http2' {
  interface Http2Stream {
    headRequest?: boolean
  }
}

declare module 'net' {
  interface Server {
    closeAllConnections?: Function // of http.Server and https.Server
    closeIdleConnections?: Function
  }

  interface Socket {
    encrypted?: boolean // of a TLSSocket
    _server?: nodeNet.Server
    _parent?: Socket
  }
}

declare module 'stream' {
  interface Duplex {
    parser?: any // node's, of a connection
  }
}

declare module 'fs' {
  interface ReadStream {
    pos: number | undefined
    end: number
    _readableState: any
  }
}

declare global {
  // Named in comments without an import.
  export import http = nodeHttp
  export import https = nodeHttps
  export import http2 = nodeHttp2
  export import net = nodeNet
  export import stream = nodeStream
  type Stream = nodeStream.Stream

  interface Buffer {
    latin1Slice (start?: number, end?: number): string
  }

  // What errors have beside their message: those of http-errors, of node's parser, and of connections.
  interface Error {
    bytesParsed?: number
    code?: string
    expose?: boolean
    reason?: string
    status?: number
    statusCode?: number
  }

  interface Function {
    _name?: string // koa-convert's
    listener?: Function // what `rawListeners()` wraps
  }
}

declare module '../../lib/engines/contract' {
  interface Incoming {
    readonly localMinor: number
    readonly localSocket: nodeStream.Duplex
    readonly isComplete: boolean
    readonly isSpent: boolean
    makeHeaders (): object
    findField (name: string): string | string[] | undefined
    collect (limit: number): Buffer | Promise<Buffer>
    makeRequest (): void
  }

  interface Outgoing {
    readonly localSocket: nodeStream.Duplex | null
    readonly isClosed: boolean
    setField (name: string, value: any): boolean
    appendField (name: string, value: any): boolean
    makeResponse (): void
  }
}
