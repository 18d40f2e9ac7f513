import Kone = require('../../lib/index')

declare function rpc (methods: rpc.Methods, options?: rpc.Options): Kone.Middleware

declare namespace rpc {
  /** `this` is ctx; the awaited value is the response */
  type Method = (this: Kone.Context, ...args: any[]) => unknown

  interface Methods {
    [name: string]: Method
  }

  interface Codec {
    /** Content type, of the request and of the response. */
    type: string
    /** The array of arguments. */
    decode (buffer: Buffer): unknown
    encode (value: any): Buffer
  }

  interface Options {
    // <options>
    /** Path before the name of the function. Default: `'/rpc'`. */
    prefix?: string | undefined
    /**
     * `{ type, decode (buffer) → array, encode (value) → Buffer or Uint8Array }`, in addition to JSON. Default:
     * `[]`.
     */
    codecs?: Codec[] | undefined
    /** The largest body, after decompression (bytes, or as `'1mb'`). Default: `'1mb'`. */
    limit?: number | string | undefined
    /**
     * Memory of all decoders of compressed bodies in the process together; further bodies are queued (why) (bytes,
     * or as `'1mb'`). Default: `'64mb'`.
     */
    decoderMemory?: number | string | undefined
    // </options>
  }
}

export = rpc
