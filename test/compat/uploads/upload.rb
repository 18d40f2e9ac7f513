# As upload.py: ruby upload.rb FILE SIZES ORIGIN PATH...

require 'net/http'

file, sizes, origin, *paths = ARGV
CONTENT = File.binread(file)
SIZES = sizes.split(',').map(&:to_i)

# What Net::HTTP reads the body from: at most a piece at a time.
class Pieces
  def initialize
    @at = 0
    @sizes = SIZES.cycle
    @left = 0
  end

  def readpartial(most, buffer = +'')
    raise EOFError if @at >= CONTENT.bytesize

    @left = @sizes.next if @left.zero?
    piece = CONTENT.byteslice(@at, [most, @left].min)
    @at += piece.bytesize
    @left -= [most, @left].min
    buffer.replace(piece)
  end
end

def send_to(http, path, request)
  http.start unless http.started?
  response = http.request(request)
  puts "#{response.body} #{response.code} #{path}"
rescue SystemCallError, IOError, Net::ProtocolError => e
  puts "#{e.inspect} failed #{path}"
  http.finish if http.started?
end

$stdout.sync = true
uri = URI(origin)
http = Net::HTTP.new(uri.host, uri.port, nil)
http.open_timeout = http.read_timeout = http.write_timeout = nil
http.keep_alive_timeout = 60 # s
paths.each do |path|
  post = Net::HTTP::Post.new(path, 'Content-Type' => 'text/plain', 'Transfer-Encoding' => 'chunked')
  post.body_stream = Pieces.new
  send_to(http, path, post)
  send_to(http, '/next', Net::HTTP::Get.new('/next'))
end
