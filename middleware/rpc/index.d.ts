import type { Context, Middleware } from '../../lib/index'

declare function rpc (methods: rpc.Methods, options?: rpc.Options): Middleware

declare namespace rpc {
  /** `this` is ctx; the awaited value is the response */
  type Method = (this: Context, ...args: any[]) => unknown

  interface Methods {
    [name: string]: Method
  }

  interface Codec {
    /** content type, of the request and of the response */
    type: string
    /** the array of arguments */
    decode (buffer: Buffer): unknown
    encode (value: any): Buffer
  }

  interface Options {
    /** default '/rpc' */
    prefix?: string
    /** beside JSON */
    codecs?: Codec[]
    /** bytes, or as '1mb', which is the default */
    limit?: number | string
    /** of all decoders of compressed bodies in the process together; further ones are queued; default '64mb' */
    decoderMemory?: number | string
  }
}

export = rpc
