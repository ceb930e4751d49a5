"""The same two bags in every format that is text."""

HEADER = "bag,label,f1,f2\nb1,0,1,2\nb1,0,3,4\nb2,1,5,6\n"
MUSK = "MUSK-1,1_1+1,1,2,1.\nMUSK-1,1_1+2,3,4,1.\nNON-MUSK-2,2_1+1,5,6,0.\n"
SPARSE = "3 2\n0:7:1 1:1 2:2\n1:7:1 1:3 2:4 # a remark\n2:8:-1 2:6 1:5\n"
ARFF = """% a comment
@RELATION two
@attribute id {b1,b2}
@ATTRIBUTE bag relational
  @attribute f1 numeric
  @attribute 'f 2' real
@end bag
@attribute class {0,1}
@data
b1,"1,2\\n3,4",0
b2,'5,6\\n',1
"""
